import { describe } from 'node:test'
import type { Store } from '../../src/store/store.ts'
import { ledgerContract } from './ledger-contract.ts'
import { meteringContract } from './metering-contract.ts'
import { usageContract } from './usage-contract.ts'

/** What the wallet does on every store engine. `open` opens an empty store. */
export function walletContract(name: string, open: () => Promise<Store>): void {
  describe(`ledger on ${name}`, () => ledgerContract(open))
  describe(`metered calls on ${name}`, () => meteringContract(open))
  describe(`usage on ${name}`, () => usageContract(open))
}
