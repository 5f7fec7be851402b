import { MemoryInput } from '../../src/memory/memory.ts'
import { createCountChanges } from '../../src/memory/records/count-changes.ts'
import { keepCounted } from '../../src/memory/records/store-memory.ts'
import { THIS_MACHINE } from '../../src/memory/records/trusted-writers.ts'
import type { Store } from '../../src/store/store.ts'

/**
 * Stores many memories in the space of this machine, as an import does: in one transaction, and without a search for
 * similar ones, which make most of the cost of each.
 *
 * @param of.writer id of the key that stores them; this machine by default
 */
export function keepMany(
  store: Store,
  inputs: readonly Record<string, unknown>[],
  { now, writer = null }: { now: string; writer?: string | null },
): Promise<void> {
  return store.write(async (trx) => {
    const changes = createCountChanges()
    const caller = { ...THIS_MACHINE, id: writer }
    for (const input of inputs)
      await keepCounted(trx, { space: 0, input: MemoryInput.parse(input), now, caller, changes })
    await changes.write(trx)
  })
}
