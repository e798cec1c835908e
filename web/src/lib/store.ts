import { useSyncExternalStore } from "react";

const SLOWEST_MS = 250;
const FRAME_MS = 16;

/** A value that the page is drawn from. */
export class Store<T> {
  private readonly listeners = new Set<() => void>();
  private waiting = false;
  private pause = FRAME_MS;

  constructor(private value: T) {}

  get = (): T => this.value;

  set(change: T | ((value: T) => T)): void {
    this.value = change instanceof Function ? change(this.value) : change;
    this.tell();
  }

  /** For changes that come in by the hundred: they are there at once, and drawn together a frame later. The more drawing
   * costs, the longer it waits, so that typing and scrolling go on beside it. */
  stage(change: (value: T) => T): void {
    this.value = change(this.value);
    if (this.waiting) return;
    this.waiting = true;
    setTimeout(() => (document.hidden ? this.draw() : requestAnimationFrame(() => this.draw())), this.pause - FRAME_MS);
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private draw(): void {
    this.waiting = false;
    const begun = performance.now();
    this.tell();
    // React draws in a microtask of its own, which was queued before this one.
    queueMicrotask(() => {
      this.pause = Math.min(SLOWEST_MS, Math.max(FRAME_MS, 4 * (performance.now() - begun)));
    });
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

const whole = <T>(value: T): T => value;

/** `select` must give the same value for the same state: a field, or something memoised. */
export function useStore<T, S = T>(store: Store<T>, select: (value: T) => S = whole as unknown as (value: T) => S): S {
  return useSyncExternalStore(store.subscribe, () => select(store.get()));
}
