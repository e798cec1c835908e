/** Signs behind a run of backticks make it code in a line, and no fence. */
const FENCE = /^ {0,3}(`{3,}(?![^`]*`)|~{3,})/;

/** The level of the highest heading in a text: 1 where it has none. */
export function topLevel(markdown: string): number {
  const prose = proseOf(markdown);
  if (/^[^\s#>|`-].*\n=+\s*$/m.test(prose)) return 1;
  const levels = [...prose.matchAll(/^ {0,3}(#{1,6})\s/gm)].map(([, signs]) => signs?.length ?? 1);
  return levels.length === 0 ? 1 : Math.min(...levels);
}

/** The text with its blocks of code as empty lines. One that is not closed goes on to the end, as it is shown. */
function proseOf(markdown: string): string {
  let fence = "";
  const lines = markdown.split("\n").map((line) => {
    const run = FENCE.exec(line)?.[1] ?? "";
    if (fence === "") {
      fence = run;
      return run === "" ? line : "";
    }
    if (run.startsWith(fence)) fence = "";
    return "";
  });
  return lines.join("\n");
}
