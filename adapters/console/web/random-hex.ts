/** Returns 128 random bits. `crypto.randomUUID` exists only on pages from https or from this machine. */
export const randomHex = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
