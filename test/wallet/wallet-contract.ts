import { describe } from 'node:test'
import type { Store } from '../../src/store/store.ts'
import { archiveContract } from './archive-contract.ts'
import { burnContract } from './burn-contract.ts'
import { closingContract } from './closing-contract.ts'
import { debtsContract } from './debts-contract.ts'
import { depositedContract } from './deposited-contract.ts'
import { journalContract } from './journal-contract.ts'
import { ledgerContract } from './ledger-contract.ts'
import { meteringContract } from './metering-contract.ts'
import { periodStatementContract } from './period-statement-contract.ts'
import { reservationsContract } from './reservations-contract.ts'
import { sessionBudgetsContract } from './session-budgets-contract.ts'
import type { OpenStore } from './setup.ts'
import { statementContract } from './statement-contract.ts'
import { tamperingContract } from './tampering-contract.ts'
import { usageContract } from './usage-contract.ts'

/** Tests of the wallet, for every store engine. `open` opens an empty store. */
export function walletContract(name: string, open: () => Promise<Store>): void {
  const openFor: OpenStore = async (t) => {
    const store = await open()
    t.after(() => store.close())
    return store
  }
  describe(`sealed archives on ${name}`, () => archiveContract(openFor))
  describe(`burn on ${name}`, () => burnContract(openFor))
  describe(`closed periods on ${name}`, () => closingContract(openFor))
  describe(`journals on ${name}`, () => journalContract(openFor))
  describe(`ledger on ${name}`, () => ledgerContract(openFor))
  describe(`deposits on ${name}`, () => depositedContract(openFor))
  describe(`metered calls on ${name}`, () => meteringContract(open))
  describe(`statements of periods on ${name}`, () => periodStatementContract(openFor))
  describe(`debts on ${name}`, () => debtsContract(openFor))
  describe(`reservations on ${name}`, () => reservationsContract(openFor))
  describe(`budgets of sessions on ${name}`, () => sessionBudgetsContract(openFor))
  describe(`statements on ${name}`, () => statementContract(openFor))
  describe(`a store changed by hand on ${name}`, () => tamperingContract(openFor))
  describe(`usage on ${name}`, () => usageContract(openFor))
}
