/** A path beside another that nothing has yet: "/report.md" gives "/report (2).md". */
export function copyName(path: string, taken: readonly string[]): string {
  const dot = path.lastIndexOf(".");
  const at = dot > path.lastIndexOf("/") + 1 ? dot : path.length;
  let number = 2;
  const named = () => `${path.slice(0, at)} (${number})${path.slice(at)}`;
  while (taken.includes(named())) number += 1;
  return named();
}
