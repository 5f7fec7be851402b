import * as z from 'zod'
import type { Base } from '../base.ts'
import { CallRecord } from '../calls/call-record.ts'
import { CallStats } from '../calls/call-stats.ts'
import type { LiveCalls } from '../calls/calls.ts'
import type { Memories, MemoryService } from '../memory/memory.ts'
import { copyFileOf } from './memory-copy.ts'
import { createOfflineReads } from './offline-reads.ts'
import { remoteMemories } from './remote-memories.ts'
import { createAskRemote } from './remote-request.ts'

/** Memories and audit trail of another Gazeway, for the tools of this machine. */
export interface Remote {
  memory: Memories
  calls: Pick<LiveCalls, 'history' | 'stats'>
  /** The name that the remote has for a project of this machine. */
  projectName(name: string): string
  /** Says that the remote does not answer and that a copy is served; null while it answers. */
  offlineNote(): string | null
  /** Waits up to 2 s for a copy that is being made. */
  close(): Promise<void>
}

const CallPage = z.object({ items: z.array(CallRecord), total: z.int(), next_cursor: z.string().nullable() })

/** Opens the client of the remote Gazeway of the configuration; null without one. */
export function openRemote(base: Base, elapsedMs = () => performance.now()): Remote | null {
  const { config: settings, dataDir } = base.config.current()
  const { url, key, projects, timeout_ms: timeoutMs } = settings.remote
  if (url === null) return null
  const ask = createAskRemote({ url: url.replace(/\/+$/, ''), key, timeoutMs })
  const over = remoteMemories(ask)
  const file = copyFileOf(dataDir, url, key)
  const { answered, read, write, offlineNote, close } = createOfflineReads({ ...base, ask, over, file, elapsedMs })
  const service: MemoryService = {
    ...over,
    store: (input) => write(() => over.store(input)),
    forget: (of) => write(() => over.forget(of)),
    remove: (id) => write(() => over.remove(id)),
    stats: () => answered(over.stats),
    recall: (query) => read((memories) => memories.recall(query)),
    search: (query) => read((memories) => memories.search(query)),
    related: (query) => read((memories) => memories.related(query)),
    recent: (query) => read((memories) => memories.recent(query)),
    newest: (query) => read((memories) => memories.newest(query)),
    keys: (query) => read((memories) => memories.keys(query)),
  }
  return {
    memory: {
      ...service,
      of: () => service,
      removeAnyones: service.remove,
      sweep: async () => 0,
      sweepEnded: async () => 0,
      embedding: async () => ({ memories: 0, embedded: 0, failure: null }),
      sweeps: [],
    },
    calls: {
      history: ({ maxBytes, ...query }) => answered(() => ask({ path: '/api/calls', query, reply: CallPage })),
      stats: (query) => answered(() => ask({ path: '/api/calls/stats', query, reply: CallStats })),
    },
    projectName: (name) => projects[name] ?? name,
    offlineNote,
    close,
  }
}
