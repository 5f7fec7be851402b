/** The field of a request that an error of the upstream is about; null where it names none. */
export function refusedField(error: unknown): string | null {
  return error !== null && typeof error === 'object' && 'param' in error && typeof error.param === 'string'
    ? error.param
    : null
}
