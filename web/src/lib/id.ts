/** A random id. `crypto.randomUUID` does not exist on pages without TLS, which a server at home often serves. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
