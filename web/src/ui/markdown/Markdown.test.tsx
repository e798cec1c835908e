import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, test, vi } from "vitest";
import type { Citation } from "../../protocol/events.gen";
import { type FootnoteMark, type Footnotes, Markdown, type MarkdownImages, plainText } from "./index";

/** What is drawn on the server has no browser to ask for its language. */
vi.mock("../../lib/i18n", () => ({
  phrases: (all: unknown) => all,
  useWords: (words: { en: unknown }) => words.en,
}));

function html(text: string, footnotes?: Footnotes, images?: MarkdownImages): string {
  return renderToStaticMarkup(<Markdown text={text} footnotes={footnotes} images={images} />)
    .replace(/^<div class="md">|<\/div>$/g, "")
    .replaceAll(' dir="auto"', "")
    .replace(/(<(?:ul|ol|li|blockquote|table)) dir="ltr"/g, "$1")
    .replace(/<span class="md-statement"[^>]*data-verdict="supported">(.*?)<\/span>/g, "$1")
    .replace(/<span class="md-(?:cited|together)"(?: data-open-end="true")?>(.*?)<\/span>/g, "{$1}");
}

function chip({ number, citation }: FootnoteMark) {
  return <b>{`${number}${citation ? `=${citation.quote}` : ""}`}</b>;
}

function known(...numbers: number[]): Footnotes {
  return { citations: [], isKnown: (number) => numbers.includes(number), render: chip };
}

function cited(text: string, ...given: [marker: string, number: number, sentence: string, quote: string][]): Footnotes {
  const points = [...text];
  const citations = given.map(([marker, number, sentence, quote]): Citation => {
    const start = [...text.slice(0, text.indexOf(sentence))].length;
    expect(points.slice(start, start + [...sentence].length).join("")).toBe(sentence);
    const end = start + [...sentence].length;
    const none = {
      quote_start: null,
      quote_end: null,
      snapshot_id: null,
      passage: null,
      by: "text" as const,
      missing: null,
      suggestion: null,
      differences: [],
    };
    return { marker, number, start, end, verdict: "supported", quote, ...none };
  });
  return { citations, isKnown: () => false, render: chip };
}

describe("blocks", () => {
  test.each([
    ["**粗体（括号）**后", "<p><strong>粗体（括号）</strong>后</p>"],
    ["a ~~gone~~ b", "<p>a <del>gone</del> b</p>"],
    [
      "# One\n\n## Two\n\n##### Five",
      '<h3 data-depth="1">One</h3><h4 data-depth="2">Two</h4><h5 data-depth="5">Five</h5>',
    ],
    ["- a\n- b", "<ul><li>a</li><li>b</li></ul>"],
    ["- a\n\n- b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"],
    ["3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'],
    ["> q\n\n---", "<blockquote><p>q</p></blockquote><hr/>"],
    ["a  \nb", "<p>a<br/>b</p>"],
    ["<div>x</div>", '<p class="md-html">&lt;div&gt;x&lt;/div&gt;</p>'],
    ["a <b>c</b>", "<p>a &lt;b&gt;c&lt;/b&gt;</p>"],
  ])("%j", (text, expected) => expect(html(text).replaceAll("<br/>\n", "<br/>")).toBe(expected));

  test("a table has a head, sides, a box that can be reached, and breaks in its cells", () => {
    const drawn = html("| a | b |\n|---|--:|\n| 1<br>2 | **x** |");
    expect(drawn).toContain('<th scope="col">a</th><th scope="col" data-align="right">b</th>');
    expect(drawn).toContain('<td>1<br/>2</td><td data-align="right"><strong>x</strong></td>');
    expect(drawn).toContain('tabindex="0" role="group" aria-label="Table"');
  });

  test("tasks have names", () => {
    const drawn = html("- [ ] open\n- [x] done");
    expect(drawn).toContain('<input type="checkbox" disabled="" aria-label="Not done"/>open');
    expect(drawn).toContain('<input type="checkbox" disabled="" aria-label="Done" checked=""/>done');
  });

  test("code has its language and can be reached", () => {
    const drawn = html("```Python\nx = '<b>'\n```");
    expect(drawn).toContain('<span class="md-bar-name">python</span>');
    expect(drawn).toContain('aria-label="Code, python" dir="ltr"><code>x = &#x27;&lt;b&gt;&#x27;</code>');
  });

  test("formulas are shown as they were written until they are drawn", () => {
    const source = (text: string) => [...html(text).matchAll(/<code class="md-formula-source"[^>]*>(.*?)<\/code>/gs)];
    expect(source("$5 and $10, US$3, 5$/m or 6$/m, `$x$`")).toEqual([]);
    expect(source("$x$ \\(y\\)").map((found) => found[1])).toEqual(["$x$", "\\(y\\)"]);
    expect(source("\\[\na\n- b\n\\]").map((found) => found[1])).toEqual(["\\[\na\n- b\n\\]"]);
    expect(html("\\[citation needed\\] \\[1\\]")).toBe("<p>[citation needed] [1]</p>");
  });
});

describe("footnotes", () => {
  test.each([
    ["It is so [1].", "<p>It is so{<b>1</b>.}</p>"],
    [
      "So [1][2] and [1, 2] and [1-3]",
      "<p>So{<b>1</b><b>2</b>} and{<b>1</b><b>2</b>} and{<b>1</b><b>2</b><b>3</b>}</p>",
    ],
    ["据报道【1】，也有［２］。还有【3†L1-L9】", "<p>据报道{<b>1</b>，}也有{<b>2</b>。}还有{<b>3</b>}</p>"],
    ["Theo báo cáo [1], tăng 5%.", "<p>Theo báo cáo{<b>1</b>,} tăng 5%.</p>"],
    ["Wow![1] [^2]", "<p>Wow!{<b>1</b><b>2</b>}</p>"],
    ["unknown [9] stays, [1, 9] half", "<p>unknown [9] stays,{<b>1</b>[9]} half</p>"],
    ["`a[1]` \\[1] a[1] args[2] [0, 1]", '<p><code class="md-inline-code">a[1]</code> [1] a[1] args[2] [0, 1]</p>'],
    [
      "# Head [1]\n\n- item [2]\n\n> quote [3]",
      '<h3 data-depth="1">Head{<b>1</b>}</h3><ul><li>item{<b>2</b>}</li></ul><blockquote><p>quote{<b>3</b>}</p></blockquote>',
    ],
    ["**bold [1]** *it[2]*", "<p><strong>bold{<b>1</b>}</strong> <em>it{<b>2</b>}</em></p>"],
    ["**so** [1] [9], [2]; (so [1]).", "<p><strong>so</strong> <b>1</b> [9],{<b>2</b>;} (so{<b>1</b>).}</p>"],
    ["all [1][2][3] [1], too", "<p>all{<b>1</b>}<b>2</b><b>3</b>{<b>1</b>,} too</p>"],
    ["version [1].5 of\n[2]", "<p>version{<b>1</b>}.5 of{<b>2</b>}</p>"],
  ])("%j", (text, expected) => expect(html(text, known(1, 2, 3))).toBe(expected));

  test("in cells, but neither in links nor as their text", () => {
    expect(html("|a [1]|\n|-|\n|b [2]|", known(1, 2))).toContain('<th scope="col">a{<b>1</b>}</th>');
    const drawn = html("[see [1] *[1]*](https://a.org) [1](https://b.org)", known(1));
    expect(drawn).not.toContain("<b>");
    expect(drawn).toContain("see [1] <em>[1]</em></a>");
  });

  test("without sources markers are text", () => expect(html("a [1] b 【2】")).toBe("<p>a [1] b 【2】</p>"));

  test("a definition of a known source is no footnote of the text", () => {
    const drawn = html("So [^1] and[^2].\n\n[^1]: Source one\n\n[^2]: A note", known(1));
    expect(drawn).toContain("<p>So{<b>1</b>} and<sup class=");
    expect(drawn).toContain('<div class="md-source-note"><b>1</b><div><p>Source one</p></div></div>');
    expect(drawn.match(/<li/g)).toHaveLength(1);
    expect(drawn).toContain("<p>A note</p>");
  });

  test("footnotes of the text are numbered as it refers to them", () => {
    const drawn = html("A[^b] B[^a] again[^b].\n\n[^a]: Note a\n[^b]: Note b\n[^c]: Note c");
    expect([...drawn.matchAll(/<p>Note (.)<\/p>/g)].map((found) => found[1]).join("")).toBe("bac");
    expect([...drawn.matchAll(/aria-label="Note (\d)"/g)].map((found) => found[1]).join("")).toBe("121");
    const ids = [...drawn.matchAll(/ id="([^"]+)"/g)].map((found) => found[1]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("footnotes of the text that are named by numbers keep them", () => {
    const drawn = html("A[^3] B[^1].\n\n[^1]: Note one\n[^3]: Note three");
    expect([...drawn.matchAll(/aria-label="Note (\d)"/g)].map((found) => found[1]).join("")).toBe("31");
    expect([...drawn.matchAll(/<li value="(\d)".*?Note (\w+)/g)].map((found) => found.slice(1).join())).toEqual([
      "3,three",
      "1,one",
    ]);
  });

  test("a name that is also a reference is the source, if there is one", () => {
    const text = "See [1] and [2].\n\n[1]: https://a.org\n[2]: https://b.org";
    expect(html(text, known(1))).toMatch(/See\{<b>1<\/b>\} and <a href="https:\/\/b.org\/"[^>]*>2<\/a>/);
  });
});

describe("citations", () => {
  test("one for each number of each marker, in order", () => {
    const text = "One thing [1]. Other thing [1, 2]. Third [1].";
    const notes = cited(
      text,
      ["[1]", 1, "One thing [1].", "q1"],
      ["[1, 2]", 1, "Other thing [1, 2].", "q2"],
      ["[1, 2]", 2, "Other thing [1, 2].", "q3"],
      ["[1]", 1, "Third [1].", "q4"],
    );
    expect(html(text, notes)).toBe(
      "<p>One thing{<b>1=q1</b>.} Other thing{<b>1=q2</b><b>2=q3</b>.} Third{<b>1=q4</b>.}</p>",
    );
  });

  test("offsets count code points", () => {
    const text = "👩‍🔬🇻🇳 𠮷野家 Sources:\n[1] listed\n\n👍👍 𠮷野家很有名。[1]\n\n# Nguồn\n\n[1] listed again";
    const notes = cited(text, ["[1]", 1, "𠮷野家很有名。", "q"]);
    expect(html(text, notes).match(/1=q|\[1\]/g)).toEqual(["[1]", "1=q", "[1]"]);
  });

  test("the place decides where counts differ", () => {
    const text = `First [1]. ${"Filler. ".repeat(80)}Second [1]. ${"Filler. ".repeat(80)}Third [1].`;
    const notes = cited(text, ["[1]", 1, "Second [1].", "q2"], ["[1]", 1, "Third [1].", "q3"]);
    expect(html(text, notes).match(/1=q\d|\[1\]/g)).toEqual(["[1]", "1=q2", "1=q3"]);
  });
});

describe("pictures", () => {
  const images: MarkdownImages = {
    workspace: (path) => (path.includes("chart") ? `/v2/files${path}` : null),
    remote: () => Promise.reject(new Error("not asked")),
  };

  test("of the workspace are shown", () => {
    expect(html("![A chart](/chart.png)", undefined, images)).toContain(
      '<img class="md-picture" src="/v2/files/chart.png" alt="A chart" loading="lazy" referrerPolicy="no-referrer"/>',
    );
  });

  test("of the web wait for a click", () => {
    const drawn = html("![alt](https://evil.example/a.png?q=secret)", undefined, images);
    expect(drawn).not.toContain("<img");
    expect(drawn).not.toContain("secret");
    expect(drawn).toContain("[image: alt] Load image from evil.example</button>");
  });

  test.each([
    "//evil.example/a.png",
    "\\\\evil.example\\a.png",
    "data:image/png;base64,AA",
    "file:///etc/passwd",
    "other.png",
  ])("%s is not loaded", (url) => expect(html(`![x](<${url}>)`, undefined, images)).toBe("<p>[image: x]</p>"));

  test("without a way to load them only their words are there", () => {
    expect(html("![the alt](https://a.org/b.png)")).toBe("<p>the alt</p>");
  });
});

test("plain text for titles", () => {
  expect(plainText("# Head **bold** [1]\n\nText with `code` and [link](http://a.b) [2].\n\n```\nx\n```")).toBe(
    "Head bold Text with code and link.",
  );
});

test("headings skip no level, wherever a text begins", () => {
  const levels = (text: string) =>
    [...renderToStaticMarkup(<Markdown text={text} />).matchAll(/<h(\d)/g)].map(([, level]) => level).join("");
  expect(levels("### a\n\n# b\n\n#### c\n\n> ###### d")).toBe("3345");
  expect(levels("# a\n\n## b\n\n### c\n\n## d")).toBe("3454");
});

test("lists, quotations and tables go the way their letters do", () => {
  expect(html("- مرحبا\n\n- hello")).toMatch(/^<ul dir="rtl"><li dir="rtl">.*<li><p>hello/s);
  expect(html("> 1. שלום")).toMatch(/^<blockquote dir="rtl"><ol dir="rtl"><li dir="rtl">/);
  expect(html("| اسم | value |\n|---|---|\n| a | b |")).toContain('<table dir="rtl">');
});
