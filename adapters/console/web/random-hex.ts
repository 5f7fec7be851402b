/** 128 random bits. `crypto.randomUUID` is missing where the console is not served over https or from this machine. */
export const randomHex = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
