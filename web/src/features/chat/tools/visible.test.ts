import { describe, expect, test } from "vitest";
import { visible } from "./visible";

describe("visible", () => {
  test("leaves what can be read as it is", () => {
    expect(visible("Giá cổ phiếu:\n\t股价 🙂")).toBe("Giá cổ phiếu:\n\t股价 🙂");
  });

  test("writes as escapes what hides or turns the order around", () => {
    expect(visible("a\u202eb\u200bc\u001b[2J\u{e0041}")).toBe("a\\u{202e}b\\u{200b}c\\u{1b}[2J\\u{e0041}");
  });
});
