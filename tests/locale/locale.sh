#!/usr/bin/env bash
# The library's numbers and letters in locales where 1.5 is written 1,5 and i has another upper case.
# usage: locale.sh PRINT_ALL SOURCE
set -u
print_all=$1 source=$2
command -v localedef >/dev/null && [ -d /usr/share/i18n/locales ] ||
  { echo "no localedef, or no locales to make (package locales): skipped"; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export LOCPATH=$out
failures=0
fail() { failures=$((failures + 1)); echo "$*"; }

LC_ALL=C "$print_all" "$out/C.db" >"$out/C" 2>"$out/C.host" || { cat "$out/C.host"; exit 1; }
grep -q ': 1\.5$' "$out/C.host" || fail "the C locale: $(cat "$out/C.host")"
[ "$(wc -l <"$out/C")" -gt 200 ] || fail "hardly anything is compared: $(wc -l <"$out/C") lines"
pairs=(tr_TR:UTF-8 tr_TR:ISO-8859-9 ps_AF:UTF-8)
[ "${TIRC_TEST_EVERY:-1}" != 1 ] || pairs+=(de_DE:UTF-8 fr_FR:UTF-8) # a comma, too, which takes seconds to make
for pair in "${pairs[@]}"; do
  name=${pair%:*}.${pair#*:}
  localedef -c -i "${pair%:*}" -f "${pair#*:}" "$out/$name" >/dev/null 2>&1
  [ -d "$out/$name" ] || { fail "localedef makes no $name"; continue; }
  LC_ALL=$name "$print_all" "$out/$name.db" >"$out/text" 2>"$out/host" || fail "$name: $(cat "$out/host")"
  grep -q ': 1\.5$' "$out/host" && fail "$name is not a locale with another decimal point: $(cat "$out/host")"
  cmp -s "$out/C" "$out/text" || { fail "$name: the library's output differs"; diff -a "$out/C" "$out/text" | tr -d '\0' | head -20; }
done

# No number and no letter passes by the door: ir/number.h and ir/ascii.h.
doors='ir/(number\.c|number\.h|ascii\.h)'
calls='\b(strtod|strtof|strtold|atof|setlocale|localeconv|strcoll|strxfrm|strcasecmp|strncasecmp|strerror|fnmatch|is(alpha|alnum|digit|xdigit|space|upper|lower|print|punct)|to(upper|lower)|mbrtowc|mbstowcs|wcwidth)\('
formats='\b(v?s?n?printf|v?[fd]printf)\([^;]*%[-+ #0]*[0-9*]*(\.[0-9*]+)?l?[eEfFgGaA]'
cd "$source" || exit 1
looked=$(find ir parser passes codegen runtime -name '*.[chly]' | wc -l)
[ "$looked" -gt 100 ] || fail "the library's sources are not in $source"
found=$(grep -rnE "$calls" ir parser passes codegen runtime --include='*.[chly]' | grep -vE "^$doors:")
[ -z "$found" ] || fail "these ask the locale:"$'\n'"$found"
# Statements may go over lines: each file as one.
while IFS= read -r file; do
  tr '\n' ' ' <"$file" | grep -oE "$formats" | sed "s|^|$file: |" | cut -c1-160
done < <(find ir parser passes codegen runtime -name '*.[chly]' | grep -vE "$doors") >"$out/printed"
[ ! -s "$out/printed" ] || fail "these print a number as the locale writes it:"$'\n'"$(cat "$out/printed")"
# The patterns find what they look for.
printf '%s\n' 'x = strtod(s, NULL);' 'if (isalnum((unsigned char)*s))' | grep -cE "$calls" | grep -qx 2 ||
  fail "the pattern of calls finds none"
printf '%s' 'snprintf(a, n, "%d %.3g", 1, x);' | grep -qE "$formats" || fail "the pattern of formats finds none"
printf '%s' 'tirc_snprintf(a, n, "%d %.3g", 1, x);' | grep -qE "$formats" && fail "the door itself is found"
exit $((failures > 0))
