-- Neovim: diagnostics for .tir and .sch files when they are written. In init.lua:
--     dofile("/path/to/tirc/examples/editors/tirc.lua")
-- A schedule is tried on the only .tir file of its folder, or on the one that a comment
-- `# program: NAME.tir` in it names.
vim.filetype.add({ extension = { tir = "python", sch = "python" } })
local namespace = vim.api.nvim_create_namespace("tirc")

local function program_of(buffer, path)
  local folder = vim.fn.fnamemodify(path, ":h")
  for _, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    local name = line:match("^#%s*program:%s*(%S+)")
    if name then return folder .. "/" .. name end
  end
  local all = vim.fn.glob(folder .. "/*.tir", false, true)
  return #all == 1 and all[1] or nil
end

local function check(event)
  local path = vim.api.nvim_buf_get_name(event.buf)
  local command = { "tirc", "check", "--error-format=json", path }
  if path:match("%.sch$") then
    local program = program_of(event.buf, path)
    if not program then return end
    table.insert(command, 4, program)
  end
  local diagnostics = {}
  for line in vim.gsplit(vim.fn.system(command), "\n", true) do
    local ok, d = pcall(vim.json.decode, line)
    if ok and type(d) == "table" and d.message and d.file == path then
      local parts = { d.message }
      for _, key in ipairs({ "condition", "hint" }) do
        if d[key] then table.insert(parts, key .. ": " .. d[key]) end
      end
      table.insert(diagnostics, {
        lnum = math.max((d.line or 1) - 1, 0),
        col = math.max((d.column or 1) - 1, 0),
        message = table.concat(parts, "\n"),
        code = d.code,
        source = "tirc",
        severity = vim.diagnostic.severity[d.severity == "warning" and "WARN" or "ERROR"],
      })
    end
  end
  vim.diagnostic.set(namespace, event.buf, diagnostics)
end

vim.api.nvim_create_autocmd({ "BufReadPost", "BufWritePost" }, { pattern = { "*.tir", "*.sch" }, callback = check })
