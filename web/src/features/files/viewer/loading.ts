import { useCallback, useEffect, useRef, useState } from "react";

interface State<T> {
  /** What was asked: an answer to something else is not shown. */
  of: unknown;
  value?: T;
  error?: unknown;
}

export interface Loaded<T> {
  value: T | undefined;
  error: unknown;
  /** Asks once more. What is there stays until the answer comes. */
  again: () => Promise<T | undefined>;
}

const NOTHING = { of: null };

/** What a request gives. `load` must be the same function for the same request; `free`, outside of components, takes back
 * what is no longer shown, or came too late to be. */
export function useLoaded<T>(load: () => Promise<T>, free?: (value: T) => void): Loaded<T> {
  const [state, setState] = useState<State<T>>(NOTHING);
  const turn = useRef(0);
  const run = useCallback(async (): Promise<T | undefined> => {
    turn.current += 1;
    const mine = turn.current;
    try {
      const value = await load();
      if (mine === turn.current) setState({ of: load, value });
      else free?.(value);
      return value;
    } catch (error) {
      if (mine === turn.current)
        setState((known) => (known.of === load && known.value !== undefined ? known : { of: load, error }));
      return undefined;
    }
  }, [load, free]);
  const again = useCallback(() => {
    setState((known) => (known.error === undefined ? known : NOTHING));
    return run();
  }, [run]);
  useEffect(() => {
    void run();
    return () => {
      turn.current += 1;
    };
  }, [run]);
  const { value } = state;
  useEffect(() => {
    if (value !== undefined) return () => free?.(value);
  }, [value, free]);
  const mine = state.of === load ? state : (NOTHING as State<T>);
  return { value: mine.value, error: mine.error, again };
}

/** State that begins anew when something else is shown. */
export function useFor<T>(key: string, initial: T): [T, (value: T) => void] {
  const [held, setHeld] = useState({ key, value: initial });
  const set = useCallback((value: T) => setHeld({ key, value }), [key]);
  return [held.key === key ? held.value : initial, set];
}
