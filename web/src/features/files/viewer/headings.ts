/** The level of the highest heading in a text: 1 where it has none. */
export function topLevel(markdown: string): number {
  const prose = markdown.replace(/^(`{3,}|~{3,}).*?^\1/gms, "");
  if (/^[^\s#>|`-].*\n=+\s*$/m.test(prose)) return 1;
  const levels = [...prose.matchAll(/^ {0,3}(#{1,6})\s/gm)].map(([, signs]) => signs?.length ?? 1);
  return levels.length === 0 ? 1 : Math.min(...levels);
}
