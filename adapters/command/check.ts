import type { Gateway } from '../../src/gateway.ts'

/** A check of `doctor`. Returns a finding or a warning; throws an error that says what to do. */
export interface Check {
  name: string
  run(gateway: Gateway): Promise<string | { warning: string }>
}
