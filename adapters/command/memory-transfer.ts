import { existsSync, statSync } from 'node:fs'
import type { LoadedConfig } from '../../src/config/config.ts'
import { fromHome } from '../../src/config/environment.ts'
import { GazewayError } from '../../src/errors.ts'
import { importLines, memoryLines } from '../../src/memory/records/memory-lines.ts'
import { MemoryInput } from '../../src/memory/records/memory-record.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { requireStore } from './require-store.ts'

/** Prints the operator's memories on stdout. @throws GazewayError when the store cannot be opened */
export async function exportMemories(loaded: LoadedConfig, { namespace }: { namespace?: string }): Promise<void> {
  requireStore(loaded)
  await onStore(loaded, async (store) => {
    for await (const line of memoryLines(store, { namespace, now: new Date().toISOString() }))
      if (!(await print(line))) return
  })
}

/** Resolves with false when the line cannot be written. The handler of stdout's errors says why, where that matters. */
const print = (line: string): Promise<boolean> =>
  new Promise((resolve) => process.stdout.write(line, (error) => resolve(!error)))

/** Stores the memories of a file and prints their count. @throws GazewayError `not_found`, and as `importLines` */
export async function importMemories(
  loaded: LoadedConfig,
  named: string,
  { namespace = 'default' }: { namespace?: string },
): Promise<void> {
  const file = fromHome(named)
  const why = !existsSync(file) ? 'does not exist' : !statSync(file).isFile() ? 'is not a regular file' : null
  if (why !== null) throw new GazewayError('not_found', `${file} ${why}. Give a file of JSON Lines.`, { param: 'file' })
  if (!MemoryInput.shape.namespace.safeParse(namespace).success)
    throw new GazewayError('validation_failed', '--namespace: must be 1 to 128 characters.', { param: '--namespace' })
  await onStore(loaded, async (store) => {
    const { stored, same, expired } = await importLines(store, file, {
      namespace,
      now: () => new Date(),
      secrets: loaded.config.memory.secrets,
    })
    process.stdout.write(`Memories stored: ${stored}, unchanged: ${same}, expired: ${expired}.\n`)
  })
}

async function onStore(loaded: LoadedConfig, work: (store: Store) => Promise<void>): Promise<void> {
  const store = await openStore(loaded.storeUrl)
  try {
    await work(store)
  } finally {
    await store.close()
  }
}
