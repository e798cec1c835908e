/** Every regular expression of the page takes time in proportion to the text: what it reads may be hostile. */

import process from "node:process";
import { type ESTree, parseSync, Visitor } from "vite";
import { beforeAll, expect, test, vi } from "vitest";

// It measures processor time: how long a busy machine takes for that decides nothing.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

interface Found {
  where: string;
  regex: RegExp;
}

const SOURCES = import.meta.glob<string>(["./**/*.{ts,tsx}", "!./**/*.test.*"], {
  query: "?raw",
  import: "default",
  eager: true,
});
const MODULES = import.meta.glob(["./**/*.{ts,tsx}", "!./**/*.test.*", "!./main.tsx"]);

/** Those that a source has as literals, and how many it builds of strings. */
function literalsOf(name: string, source: string): { literals: Found[]; built: number } {
  const literals: Found[] = [];
  let built = 0;
  const call = ({ callee }: ESTree.NewExpression | ESTree.CallExpression) => {
    if (callee.type === "Identifier" && callee.name === "RegExp") built += 1;
  };
  new Visitor({
    Literal(node) {
      if (!("regex" in node)) return;
      const line = source.slice(0, node.start).split("\n").length;
      literals.push({ where: `${name}:${line}`, regex: new RegExp(node.regex.pattern, node.regex.flags) });
    },
    NewExpression: call,
    CallExpression: call,
  }).visit(parseSync(name, source).program);
  return { literals, built };
}

/** Those that a module itself builds of strings while it is loaded. */
async function builtBy(name: string): Promise<Found[]> {
  const built: Found[] = [];
  const Original = RegExp;
  globalThis.RegExp = class extends Original {
    constructor(pattern: string | RegExp, flags?: string) {
      super(pattern, flags);
      const caller = new Error("for its stack").stack?.split("\n")[2];
      if (caller?.includes(`/src${name.slice(1)}:`)) built.push({ where: name, regex: new Original(pattern, flags) });
    }
  } as RegExpConstructor;
  // Another module may have loaded it already.
  vi.resetModules();
  try {
    await MODULES[name]?.();
  } finally {
    globalThis.RegExp = Original;
  }
  return built;
}

const ATOM =
  /\\[pPuxk](?:\{[^}]*\}|<[^>]*>|[0-9a-fA-F]{2,4})|\\.|\[(?:[^\]\\]|\\.)*\]|\(\?<?[=!:]|\(\?<\w+>|[()|^$*+?]|\{\d[^}]*\}|./gsu;
const NO_CHARACTER = /^(?:[()|^$*+?]|\(\?.*|\{\d.*|\\[bBk1-9].*)$/s;
const CANDIDATES = [..."a1 _-.x\n\t\"\\`~[]()<>{}|:;,!?'*+=#/@$&%^AZ9é漢†】、０，"];

/** For each part of a pattern that stands for a character: up to four that it matches, of different kinds. */
function samplesOf({ source, flags }: RegExp): string[][] {
  const atoms = (source.match(ATOM) ?? []).filter((atom) => !NO_CHARACTER.test(atom));
  return atoms.map((atom) => {
    const one = new RegExp(`^${atom}$`, flags.replace(/[gm]/g, ""));
    const own = [...atom].filter((character) => one.test(character));
    const all = new Set([...own, ...CANDIDATES.filter((character) => one.test(character))]);
    const kinds = [/\p{L}/u, /\d/, /\s/, /[^\p{L}\d\s]/u];
    return kinds.flatMap((kind) => [...all].find((character) => kind.test(character)) ?? []);
  });
}

/** A text: what it begins with, what is repeated many times, and what it ends with. */
type Shape = readonly [before: string, repeated: string, after: string];

/** What makes an expression go back and try again: long runs of what its parts match, after what the parts before them
 * match, and before something else. */
function shapesOf(regex: RegExp): Shape[] {
  const samples = samplesOf(regex);
  const firsts = samples.map(([first = ""]) => first);
  const repeated = new Map<string, Set<string>>();
  const add = (run: string, at: number) => {
    const before = repeated.get(run) ?? new Set([""]);
    for (const from of [0, at - 1, at - 2, at - 3]) if (from >= 0) before.add(firsts.slice(from, at).join(""));
    repeated.set(run, before);
  };
  for (const [at, own] of samples.entries()) {
    for (const one of own) {
      add(one, at);
      for (const two of samples[at + 1] ?? []) add(one + two, at);
    }
    for (const length of [3, 4, samples.length]) add(firsts.slice(at, at + length).join(""), at);
  }
  return [...repeated].flatMap(([run, befores]) =>
    [...befores].flatMap((before) => ["", "\n", "\u0001", "\n\u0001"].map((after): Shape => [before, run, after])),
  );
}

/** Milliseconds of this process, which a busy machine does not change. */
function cost(regex: RegExp, [before, repeated, after]: Shape, count: number): number {
  const text = before + repeated.repeat(count) + after;
  const start = process.cpuUsage();
  text.replace(regex, "");
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

function least(regex: RegExp, shape: Shape, count: number): number {
  return Math.min(...Array.from({ length: 4 }, () => cost(regex, shape, count)));
}

/** A text of which an eight times longer one costs more than 24 times as much: 8 is linear, 64 is quadratic. */
function slowText(regex: RegExp): string | null {
  for (const shape of shapesOf(regex)) {
    for (const count of [20, 24, 28, 32, 64, 500, 2000, 8000]) {
      if (cost(regex, shape, count) < 2) continue;
      const [short, long] = [least(regex, shape, Math.ceil(count / 8)), least(regex, shape, count)];
      if (long > 2 && long > 24 * short) return `${JSON.stringify(shape)} × ${count}: ${short} → ${long} ms`;
    }
  }
  return null;
}

const found: Found[] = [];
const unseen: string[] = [];

beforeAll(async () => {
  for (const [name, source] of Object.entries(SOURCES)) {
    const { literals, built } = literalsOf(name, source);
    found.push(...literals);
    if (built === 0) continue;
    const made = await builtBy(name);
    if (made.length !== built) unseen.push(name);
    found.push(...made);
  }
});

test("every regular expression of the page takes time in proportion to the text", () => {
  expect(found.length).toBeGreaterThan(80);
  const slow = found.flatMap(({ where, regex }) => {
    const text = slowText(regex);
    return text === null ? [] : `${where}: ${regex} with ${text}`;
  });
  expect(slow).toEqual([]);
});

test("no regular expression is built inside a function, where this test does not see it", () => {
  expect(unseen).toEqual([]);
});

test.each([
  ["exponential", /^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|?)+$/],
  ["quadratic from every start", /\s+([.,;])/g],
  ["quadratic between two repetitions", /^(?:>[ \t]*)*[->][-> ]*$/],
  ["quadratic in what was before", /(?<=\p{L}[^.!?\n]*?\s)\p{Lu}/gu],
  ["quadratic in repetitions of a whole part", /"(?:[^"\\]|\\.)*"/gs],
])("an expression that is %s is found", (_, regex) => expect(slowText(regex)).not.toBeNull());

test.each([/^[ \t]*(?:\|[ \t]*)?-+$/, /(?<!\s)\s+([.,;])/g, /(?<![\w.])[\w.]+@\w+/g])("%s is linear", (regex) =>
  expect(slowText(regex)).toBeNull(),
);
