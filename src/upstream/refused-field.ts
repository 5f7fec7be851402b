/** The field of a request that the upstream's refusal is about, as the `openai` client's error has it; null where it names none. */
export function refusedField(error: unknown): string | null {
  return error !== null && typeof error === 'object' && 'param' in error && typeof error.param === 'string'
    ? error.param
    : null
}
