import { useEffect, useSyncExternalStore } from "react";

/** A part of the build that is imported when it is first needed. A failed import is tried again at the next need. */
export class LazyModule<M> {
  private loaded: M | null = null;
  private isLoading = false;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly load: () => Promise<M>) {}

  get = (): M | null => this.loaded;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  request(): void {
    if (this.isLoading) return;
    this.isLoading = true;
    this.load().then(
      (module) => {
        this.loaded = module;
        for (const listener of this.listeners) listener();
      },
      () => {
        this.isLoading = false;
      },
    );
  }
}

/** The module, or null until it is loaded. It is imported once a component wants it. */
export function useLazyModule<M>(module: LazyModule<M>, isWanted: boolean): M | null {
  useEffect(() => {
    if (isWanted) module.request();
  }, [module, isWanted]);
  return useSyncExternalStore(module.subscribe, module.get, () => null);
}
