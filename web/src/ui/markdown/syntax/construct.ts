import type { Options } from "mdast-util-from-markdown";

/** The types of the tokenizer, as the parser's options name them: its own package is none of ours. */
export type Syntax = NonNullable<Extract<NonNullable<Options["extensions"]>[number], { text?: unknown }>>;
export type Construct = Extract<NonNullable<Syntax["text"]>[string], { tokenize: unknown }>;
export type Tokenize = Construct["tokenize"];
export type Effects = Parameters<Tokenize>[0];
export type State = Parameters<Tokenize>[1];
export type Code = Parameters<State>[0];
type TokenType = Parameters<Effects["enter"]>[0];

/** The name of a token that the tokenizer does not know by itself. */
export function token(name: string): TokenType {
  return name as TokenType;
}

/** Line endings are -5 to -3, `null` is the end. */
export function isLineEnd(code: Code): boolean {
  return code !== null && code < -2;
}

/** A tab is -2 and what it is filled up with is -1. */
export function isSpace(code: Code): boolean {
  return code === -2 || code === -1 || code === 32;
}

export function consumeLineEnd(effects: Effects, code: Code): void {
  effects.enter(token("lineEnding"));
  effects.consume(code);
  effects.exit(token("lineEnding"));
}

/** The text of a construct that may go over several lines: a token for what each of them has, and none for nothing. */
export class Lines {
  private begun = false;

  constructor(
    private readonly effects: Effects,
    private readonly name: string,
  ) {}

  take(code: Code): void {
    if (!this.begun) this.effects.enter(token(this.name));
    this.begun = true;
    this.effects.consume(code);
  }

  end(): void {
    if (this.begun) this.effects.exit(token(this.name));
    this.begun = false;
  }

  next(code: Code): void {
    this.end();
    consumeLineEnd(this.effects, code);
  }
}
