import type { Gateway } from '../../src/gateway.ts'

/** One thing that `doctor` checks: what it found, what it warns of, or an error that says what to do. */
export interface Check {
  name: string
  run(gateway: Gateway): Promise<string | { warning: string }>
}
