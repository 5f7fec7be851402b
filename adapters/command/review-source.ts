import * as z from 'zod'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { createGateway } from '../../src/gateway.ts'
import { createAskRemote } from '../../src/remote/remote-request.ts'
import { type ReviewOfOne, remoteReviews } from '../../src/remote/remote-reviews.ts'
import { Task } from '../../src/tasks/task-record.ts'

/** The store of reviews, and who observes them. */
interface ReviewSource {
  reviews: ReviewOfOne
  /** @throws GazewayError `not_found` */
  task(id: string): Promise<Task>
  /** Checks the key of the remote Gazeway; there is none for the store. @throws GazewayError `invalid_api_key` */
  verify(): Promise<void>
  /** The observer in words, when it is not this machine. */
  observer: string | null
  close(): Promise<void>
}

/** Opens the remote Gazeway of the configuration, as another party than the reviewer, else the store of this machine. */
export async function openReviewSource(loaded: LoadedConfig, log: Log): Promise<ReviewSource> {
  const { url, key, timeout_ms: timeoutMs } = loaded.config.remote
  if (url === null) {
    const { reviews, tasks, close } = await createGateway(loaded, log)
    return { reviews, task: (id) => tasks.get(id, null), verify: async () => {}, observer: null, close }
  }
  const ask = createAskRemote({ url: url.replace(/\/+$/, ''), key, timeoutMs })
  return {
    reviews: remoteReviews(ask),
    task: (id) => ask({ path: `/api/tasks/${encodeURIComponent(id)}`, reply: Task }),
    verify: async () =>
      void (await ask({ method: 'POST', path: '/api/verify-session', body: { key }, reply: z.object({}) })),
    observer: new URL(url).host,
    close: async () => {},
  }
}
