import assert from 'node:assert/strict'
import type { CallDeps } from '../../src/inference/call.ts'
import { UNCOUNTED_CALL } from '../../src/inference/rates/call-rates.ts'

/** Billing for callers without keys: nobody has a limit, and nothing is charged. */
export const UNBILLED: CallDeps['billing'] = {
  identity: () => null,
  rates: { begin: () => UNCOUNTED_CALL, close: async () => {} },
  sessionGate: { begin: () => null, answered() {}, add: () => () => {} },
  reservations: {
    reserve: ({ spender }) => ({
      left: () => Infinity,
      extend: async () => true,
      grow: async () => {},
      refusal: () => null,
      take: (micros) => ({ spender, day: '2026-11-21', micros, allowanceId: null, written() {}, recorded() {} }),
      renew: () => () => {},
      end() {},
    }),
    giveBackIdle: async () => {},
    giveBackBeside: async () => {},
    close: async () => {},
  },
  absorbed: { require() {}, bear: () => ({ raise: async () => true, end() {} }), forget() {} },
  charge: () => assert.fail('Nothing is charged.'),
  noteRefusal: ({ error }) => assert.fail(String(error)),
  onForeignModel: () => assert.fail('No key has a list of models.'),
  onAbsorbed: () => assert.fail('Nothing is charged.'),
  onOverrun: () => assert.fail('Nothing was reserved.'),
  pricing: { models: {}, price_per_1k_tokens_usd: 0.003, margin_usd: 0.08, token: 'pathUSD', network: 'test' },
  defaultCreditMicros: 0,
  waitMs: 0,
  maxOutputTokens: 8192,
  searchTokens: 32_768,
  now: () => new Date(),
}
