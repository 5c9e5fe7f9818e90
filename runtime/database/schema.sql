-- What tirc keeps: programs, what was tried on them, what was measured, on which machine.
-- SQLite and PostgreSQL read this very text. Version 2; `PRAGMA user_version` (SQLite) and the
-- table tirc_schema (PostgreSQL) say which one a database has. An older one is read as it is, and
-- brought to this version when it is opened for writing (migrate.c).
--
-- Every id is 32 hexadecimal digits, reckoned from what the row is about. So the same thing has the
-- same id in all databases, and merging two is a union. Times are seconds since 1970, durations
-- seconds. Columns that say "JSON" hold JSON as text; what is not known is NULL.

-- A program. Structurally equal programs have the same hash (`tirc equal`); others may, by accident.
CREATE TABLE workload (
  id TEXT PRIMARY KEY,                -- of the text
  hash TEXT NOT NULL,                 -- structural
  name TEXT,                          -- what people call it: qkv M=128
  program TEXT NOT NULL,              -- canonical text, without constants left to -D
  created DOUBLE PRECISION NOT NULL
);
CREATE INDEX workload_by_hash ON workload (hash);

-- A kind of machine, as far as times depend on it: machines alike share a row.
CREATE TABLE machine (
  id TEXT PRIMARY KEY,
  profile TEXT NOT NULL,              -- a short name: amd-epyc-7763-2-cores
  description TEXT NOT NULL,          -- JSON: processor, cores, caches, ...
  created DOUBLE PRECISION NOT NULL
);

-- What measured: versions of tirc, LLVM, the system, libraries.
CREATE TABLE environment (
  id TEXT PRIMARY KEY,
  description TEXT NOT NULL,          -- JSON: {"tirc": "0.1.0", "llvm": "19.1.7", ...}
  created DOUBLE PRECISION NOT NULL
);

-- What is tuned: a program for a target and a number of threads on a kind of machine.
CREATE TABLE task (
  id TEXT PRIMARY KEY,
  workload TEXT NOT NULL REFERENCES workload (id),
  target TEXT NOT NULL,               -- an LLVM CPU name, or what an import says
  threads INTEGER NOT NULL,
  machine TEXT NOT NULL REFERENCES machine (id),
  winner TEXT,                        -- the trial that won when a search ended and the fastest were
                                      -- measured again, in turns: what was the fastest once was
                                      -- lucky, too. NULL: no search has come to that
  created DOUBLE PRECISION NOT NULL
);
CREATE INDEX task_by_workload ON task (workload);

-- One schedule of a task, which is measured once. state: queued, then running (by a worker that has
-- a lease: when that ends, another one may take the trial over), then done. A trial that is done
-- has samples, or the code of what went wrong.
CREATE TABLE trial (
  id TEXT PRIMARY KEY,                -- of the task and the trace
  task TEXT NOT NULL REFERENCES task (id),
  trace TEXT NOT NULL,                -- JSON, as in TVM's tuning records: [instructions, decisions]
  state TEXT NOT NULL,                -- queued, running, done
  attempts INTEGER NOT NULL,          -- how often a worker took it
  worker TEXT,                        -- who has it, or had it last: host:process:...
  lease DOUBLE PRECISION,             -- until when
  predicted DOUBLE PRECISION,         -- what the model thought of it; the greatest goes first
  code TEXT,                          -- not-single-writer, timeout, wrong-result, ...; NULL: it ran;
                                      -- hopeless: it works, and the fastest of the samples, which
                                      -- are a few calls, was far slower than the best at that time:
                                      -- a bound, and no time
  message TEXT,
  seconds DOUBLE PRECISION,           -- the median of the samples; NULL where there is a code
  samples TEXT,                       -- JSON, all of them, in the order of measuring
  clock_low DOUBLE PRECISION,         -- GHz while measuring,
  clock_high DOUBLE PRECISION,
  load DOUBLE PRECISION,              -- cores that others used,
  pages TEXT,                         -- huge pages: always, madvise, never
  environment TEXT REFERENCES environment (id),
  command TEXT,                       -- what was typed
  seed BIGINT,
  source TEXT,                        -- tune; import:FILE
  more TEXT,                          -- JSON: what else the source wants to keep
  created DOUBLE PRECISION NOT NULL,
  finished DOUBLE PRECISION
);
CREATE INDEX trial_by_task ON trial (task, state);
CREATE INDEX trial_unfinished ON trial (task, state) WHERE state <> 'done';
CREATE INDEX trial_by_speed ON trial (task, seconds, id);

-- Cost models and other things that were learnt; one a kind and target.
CREATE TABLE model (
  id TEXT PRIMARY KEY,                -- of kind and target
  kind TEXT NOT NULL,                 -- cost, knobs, ...; sizes of HASH: of the program of that
                                      -- hash, {"sizes": ["n=1,4,64-512"]} in the description
  target TEXT NOT NULL,
  description TEXT NOT NULL,          -- JSON: features' version, rank correlation, ...
  trained_on BIGINT NOT NULL,         -- how many trials
  data BYTEA NOT NULL,
  created DOUBLE PRECISION NOT NULL
);

-- What bench measured: one contender in one setting of one run.
CREATE TABLE result (
  id TEXT PRIMARY KEY,                -- of all but the texts below
  session TEXT NOT NULL,              -- of the run: its contenders took turns
  workload TEXT NOT NULL REFERENCES workload (id),
  setting TEXT NOT NULL,              -- JSON: {"kernel": "qkv", "M": 128, "N": 768, "K": 768}
  contender TEXT NOT NULL,            -- rule_based, openblas, tuned, FMA ceiling, ...
  schedule_hash TEXT,                 -- of the schedule's text; NULL: it has none
  schedule TEXT,                      -- that text
  target TEXT NOT NULL,
  threads INTEGER NOT NULL,
  machine TEXT NOT NULL REFERENCES machine (id),
  environment TEXT REFERENCES environment (id),
  code TEXT,                          -- of the error that it ended in; NULL: it ran
  message TEXT,
  seconds DOUBLE PRECISION,           -- the figure: of bench the median of the turns' medians
  samples TEXT,                       -- JSON, all timed calls, in the order of measuring
  clock_low DOUBLE PRECISION,
  clock_high DOUBLE PRECISION,
  load DOUBLE PRECISION,
  pages TEXT,
  disturbed INTEGER NOT NULL,         -- 1: load, a falling clock, or wide intervals
  command TEXT,
  seed BIGINT,
  more TEXT,                          -- JSON: turns (how many of the samples each had), kind, ...
  created DOUBLE PRECISION NOT NULL
);
CREATE INDEX result_by_workload ON result (workload);
CREATE INDEX result_by_session ON result (session);
