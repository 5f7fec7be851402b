/** Field of a request that an upstream's error refers to. Null when it names none. */
export function refusedField(error: unknown): string | null {
  return error !== null && typeof error === 'object' && 'param' in error && typeof error.param === 'string'
    ? error.param
    : null
}
