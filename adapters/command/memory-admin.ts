import type { LoadedConfig } from '../../src/config/config.ts'
import { GazewayError } from '../../src/errors.ts'
import {
  createMemory,
  type Memories,
  type Memory,
  MemoryInput,
  MemoryList,
  MemorySearch,
} from '../../src/memory/memory.ts'
import { projectOf } from '../../src/memory/records/project.ts'
import { openStore } from '../../src/store/open-store.ts'
import { plain } from '../../src/text/plain.ts'
import { textOf } from '../../src/text/words.ts'
import { parseInput } from '../../src/wire/validation.ts'
import { requireStore } from './require-store.ts'

/** Flags that name memories. Without `project` they are of this folder's project and of none. */
export interface MemoryFlags {
  namespace?: string
  project?: string
}

/** Characters of a value in a list. */
const SHOWN = 100
const LISTED = 100
/** Newest memories among which those of the project are looked for. */
const MOST = 1000

/** Lists the newest memories of the project and of none; with words, those that match best. */
export function listMemories(loaded: LoadedConfig, flags: MemoryFlags, words?: string): Promise<void> {
  return onMemories(loaded, async (memory) => {
    const project = await projectIn(flags)
    const { namespace } = flags
    if (words !== undefined) {
      const query = parseInput(MemorySearch, { query: words, namespace, project })
      for (const found of (await memory.search(query)).results) print(found.memory, found.excerpt)
      return
    }
    const { items } = await memory.recent(parseInput(MemoryList, { namespace, limit: MOST }))
    const listed = items.filter((item) => item.project === null || item.project === project)
    for (const item of listed.slice(0, LISTED)) print(item, textOf(item.value))
  })
}

/** Prints a whole memory as JSON. @throws GazewayError `not_found` */
export function showMemory(loaded: LoadedConfig, key: string, flags: MemoryFlags): Promise<void> {
  return onMemories(loaded, async (memory) => {
    process.stdout.write(`${JSON.stringify(await recalled(memory, key, flags), null, 2)}\n`)
  })
}

/** Deletes a memory with all its versions. @throws GazewayError `not_found` */
export function deleteMemory(loaded: LoadedConfig, key: string, flags: MemoryFlags): Promise<void> {
  return onMemories(loaded, async (memory) => {
    const { id, project } = await recalled(memory, key, flags)
    await memory.remove(id)
    process.stdout.write(`Deleted ${plain(key)} of ${plain(project ?? 'no project')}, with all its versions.\n`)
  })
}

/** Stores the next version of a memory. @throws GazewayError `not_found` */
export function editMemory(loaded: LoadedConfig, key: string, text: string, flags: MemoryFlags): Promise<void> {
  return onMemories(loaded, async (memory) => {
    const { namespace, project, version } = await recalled(memory, key, flags)
    const input = parseInput(MemoryInput, { key, value: text, namespace, project, if_version: version })
    const stored = await memory.store(input)
    process.stdout.write(`Stored ${plain(key)} as version ${stored.memory.version}.\n`)
  })
}

async function recalled(memory: Memories, key: string, flags: MemoryFlags): Promise<Memory> {
  const found = await memory.recall({ key, namespace: flags.namespace ?? 'default', project: await projectIn(flags) })
  if (found.memory) return found.memory
  throw new GazewayError('not_found', `There is no memory ${key}. gazeway memory list shows those that there are.`, {
    param: 'key',
  })
}

const projectIn = async ({ project }: MemoryFlags): Promise<string | null> =>
  project === undefined ? projectOf(process.cwd()) : project === 'none' ? null : ((await projectOf(project)) ?? project)

const print = ({ key, namespace, project, version }: Memory, text: string): void => {
  const line = `${namespace}/${key}  version ${version}  ${project ?? 'no project'}  ${text.slice(0, SHOWN)}`
  process.stdout.write(`${plain(line.replaceAll('\n', ' '))}\n`)
}

async function onMemories(loaded: LoadedConfig, work: (memory: Memories) => Promise<void>): Promise<void> {
  requireStore(loaded)
  const store = await openStore(loaded.storeUrl)
  try {
    await work(createMemory({ store, now: () => new Date(), secrets: () => loaded.config.memory.secrets }))
  } finally {
    await store.close()
  }
}
