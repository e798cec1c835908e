/** What this browser remembers. A browser that keeps nothing (private windows, full disks) only forgets. */

const PREFIX = "footnote.";

export function recall<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

export function keep(name: string, value: unknown): void {
  try {
    if (value === null || value === undefined) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Nothing is lost that the server does not have.
  }
}

/** Everything whose name begins so. */
export function forget(beginning: string): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX + beginning)) localStorage.removeItem(key);
  } catch {
    // Nothing was kept.
  }
}

/** Tells when another tab remembers something else. */
export function whenKeptElsewhere(listener: (name: string) => void): void {
  addEventListener("storage", ({ key }) => {
    if (key?.startsWith(PREFIX)) listener(key.slice(PREFIX.length));
  });
}
