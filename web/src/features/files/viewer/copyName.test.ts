import { expect, test } from "vitest";
import { copyName } from "./copyName";

test("a copy has a name that nothing has", () => {
  expect(copyName("/a/report.md", [])).toBe("/a/report (2).md");
  expect(copyName("/report.md", ["/report (2).md", "/report (3).md"])).toBe("/report (4).md");
  expect(copyName("/v1.0/Makefile", [])).toBe("/v1.0/Makefile (2)");
  expect(copyName("/.env", [])).toBe("/.env (2)");
});
