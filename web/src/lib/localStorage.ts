/** What this browser remembers. Where it stores nothing (private windows, full disks), defaults are used. */

const PREFIX = "footnote.";

export function readStored<T>(name: string, fallback: T): T {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

/** Null and undefined remove the entry. */
export function writeStored(name: string, value: unknown): void {
  try {
    if (value === null || value === undefined) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // The server has everything that must not be lost.
  }
}

/** Removes all entries whose name starts with `prefix`. */
export function removeStored(prefix: string): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX + prefix)) localStorage.removeItem(key);
  } catch {
    // Nothing was stored.
  }
}

/** Calls `listener` with the name of an entry that another tab has changed. */
export function onStoredElsewhere(listener: (name: string) => void): void {
  addEventListener("storage", ({ key }) => {
    if (key?.startsWith(PREFIX)) listener(key.slice(PREFIX.length));
  });
}
