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
import { createProjects, type Projects } from '../../src/projects/projects.ts'
import { openStore } from '../../src/store/open-store.ts'
import { plain } from '../../src/text/single-line.ts'
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
/** Value of a flag for memories of no project. */
const NONE = 'none'
/** Newest memories among which those of the project are looked for. */
const MOST = 1000

/** Lists the newest memories of the project and of none; with words, those that match best. */
export function listMemories(loaded: LoadedConfig, flags: MemoryFlags, words?: string): Promise<void> {
  return onMemories(loaded, async (memory, projects) => {
    const project = await projectsIn(projects, flags)
    const { namespace } = flags
    if (words !== undefined) {
      const query = { ...parseInput(MemorySearch, { query: words, namespace }), project }
      for (const found of (await memory.search(query)).results) print(found.memory, found.excerpt)
      return
    }
    const { items } = await memory.recent(parseInput(MemoryList, { namespace, limit: MOST }))
    const listed = items.filter((item) => item.project === null || project.includes(item.project))
    for (const item of listed.slice(0, LISTED)) print(item, textOf(item.value))
  })
}

/** Prints a whole memory as JSON. @throws GazewayError `not_found` */
export function showMemory(loaded: LoadedConfig, key: string, flags: MemoryFlags): Promise<void> {
  return onMemories(loaded, async (memory, projects) => {
    process.stdout.write(
      `${JSON.stringify(await recalled(memory, key, await projectsIn(projects, flags), flags), null, 2)}\n`,
    )
  })
}

/** Deletes a memory with all its versions. @throws GazewayError `not_found` */
export function deleteMemory(loaded: LoadedConfig, key: string, flags: MemoryFlags): Promise<void> {
  return onMemories(loaded, async (memory, projects) => {
    const { id, project } = await recalled(memory, key, await projectsIn(projects, flags), flags)
    await memory.remove(id)
    process.stdout.write(`Deleted ${plain(key)} of ${named(project)}, with all its versions.\n`)
  })
}

/** Deletes all memories of the project and of none with a tag. */
export function deleteTagged(loaded: LoadedConfig, tag: string, flags: MemoryFlags): Promise<void> {
  return onMemories(loaded, async (memory, projects) => {
    const of = await projectsIn(projects, flags)
    const { items } = await memory.recent(parseInput(MemoryList, { namespace: flags.namespace, tag, limit: MOST }))
    const tagged = items.filter(({ project }) => project === null || of.includes(project))
    for (const { id } of tagged) await memory.remove(id)
    process.stdout.write(`Deleted ${tagged.length} memories with all their versions.\n`)
  })
}

/** Stores the next version of a memory. @throws GazewayError `not_found` */
export function editMemory(loaded: LoadedConfig, key: string, text: string, flags: MemoryFlags): Promise<void> {
  return onMemories(loaded, async (memory, projects) => {
    const { namespace, project, version } = await recalled(memory, key, await projectsIn(projects, flags), flags)
    const input = parseInput(MemoryInput, { key, value: text, namespace, project, if_version: version })
    const stored = await memory.store(input)
    process.stdout.write(`Stored ${plain(key)} as version ${stored.memory.version}.\n`)
  })
}

/** Moves a memory with all its versions to another project. @throws GazewayError `not_found`, `conflict` */
export function moveMemory(loaded: LoadedConfig, key: string, flags: MemoryFlags & { to: string }): Promise<void> {
  return onMemories(loaded, async (memory, projects) => {
    const { namespace, project } = await recalled(memory, key, await projectsIn(projects, flags), flags)
    const to = flags.to === NONE ? null : await projects.named(flags.to)
    await memory.move({ key, namespace, project }, to)
    process.stdout.write(`Moved ${plain(key)} from ${named(project)} to ${named(to)}.\n`)
  })
}

async function recalled(
  memory: Memories,
  key: string,
  project: readonly string[],
  { namespace = 'default' }: MemoryFlags,
): Promise<Memory> {
  const found = await memory.recall({ key, namespace, project })
  if (found.memory) return found.memory
  throw new GazewayError('not_found', `There is no memory ${key}. gazeway memory list shows those that there are.`, {
    param: 'key',
  })
}

async function projectsIn(projects: Projects, { project }: MemoryFlags): Promise<string[]> {
  if (project === undefined) return projects.at([process.cwd()])
  return project === NONE ? [] : [await projects.named(project)]
}

const named = (project: string | null): string => (project === null ? 'no project' : plain(project))

const print = ({ key, namespace, project, version }: Memory, text: string): void => {
  const line = `${namespace}/${key}  version ${version}  ${project ?? 'no project'}  ${text.slice(0, SHOWN)}`
  process.stdout.write(`${plain(line.replaceAll('\n', ' '))}\n`)
}

async function onMemories(
  loaded: LoadedConfig,
  work: (memory: Memories, projects: Projects) => Promise<void>,
): Promise<void> {
  requireStore(loaded)
  const store = await openStore(loaded.storeUrl)
  try {
    const memory = createMemory({ store, now: () => new Date(), secrets: () => loaded.config.memory.secrets })
    await work(memory, createProjects(store))
  } finally {
    await store.close()
  }
}
