const PAIR = /[\ud800-\udbff][\udc00-\udfff]/g;

/** The server counts code points, strings of the browser count UTF-16 units: an emoji is one there and two here. */
export class Offsets {
  /** Where each pair lies, counted as the server counts. */
  private readonly pairs: readonly number[];

  constructor(private readonly text: string) {
    const pairs: number[] = [];
    for (const { index } of text.matchAll(PAIR)) pairs.push(index - pairs.length);
    this.pairs = pairs;
  }

  /** The place in the string that an offset means, never outside of it. */
  unit(offset: number): number {
    let low = 0;
    let high = this.pairs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.pairs[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, Math.min(this.text.length, offset + low));
  }

  /** The other way round: the offset of a place in the string. */
  point(unit: number): number {
    let pairs = 0;
    while (pairs < this.pairs.length && (this.pairs[pairs] ?? 0) + pairs < unit) pairs += 1;
    return unit - pairs;
  }
}
