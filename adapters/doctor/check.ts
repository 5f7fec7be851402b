import type { Gateway } from '../../src/gateway.ts'

/** A check of `doctor`. Returns a finding or a warning; throws an error that says what to do. */
export interface Check {
  name: string
  /** Section, setting or entry that it is about. */
  settings?: string
  /** @param isThorough true to look at all that a quick run omits */
  run(gateway: Gateway, isThorough?: boolean): Promise<string | { warning: string }>
}

/** Result of a check. Its text says what to do. */
export interface Finding {
  name: string
  verdict: 'ok' | 'warn' | 'fail'
  text: string
  /** Section, setting or entry that it is about. Null for none. */
  settings: string | null
}
