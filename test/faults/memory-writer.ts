import { createMemory, MemoryInput } from '../../src/memory/memory.ts'
import { openStore } from '../../src/store/open-store.ts'

/** Stores memories one after the other: `memory-writer.ts STORE-URL NAME COUNT`; prints each key once it is acknowledged. */
const [url = '', name = '', count = '0'] = process.argv.slice(2)
const store = await openStore(url)
const memory = createMemory({ store, now: () => new Date() })
for (let i = 0; i < Number(count); i++) {
  const key = `${name}/${i}`
  await memory.store(MemoryInput.parse({ key, value: `written by ${name} as number ${i}`, tags: [name] }))
  await memory.store(MemoryInput.parse({ key: 'shared', value: key }))
  process.stdout.write(`${key}\n`)
}
await store.close()
