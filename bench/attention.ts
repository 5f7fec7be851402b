import { join } from 'node:path'
import { loadConfig } from '../src/config/config.ts'
import { createLog } from '../src/config/log.ts'
import { createGateway } from '../src/gateway.ts'
import { humanStream, randomOf } from '../test/gaze/human-stream.ts'
import type { Project } from './project.ts'

/** Records that are stored at once: the most that the tool takes. */
const BATCH = 1_000
const FILES_OF_A_SESSION = 60
/** The days before now that the sessions lie in; older attention no longer counts. */
const DAYS = 6

/** Stores SYNTHETIC eye tracking through the service: sessions over the last days, each on files of its own. */
export async function storeAttention(data: string, { root, files }: Project, records: number): Promise<void> {
  const loaded = await loadConfig({ env: {}, flags: { data } })
  const gateway = await createGateway(loaded, createLog({ level: 'silent', secrets: () => [] }))
  const random = randomOf(5)
  const sessions = Math.ceil(records / BATCH)
  for (let i = 0; i < sessions; i++) {
    const start = new Date(Date.now() - ((i + 1) / sessions) * DAYS * 86_400_000).toISOString()
    const paths = Array.from({ length: FILES_OF_A_SESSION }, () =>
      join(root, files[Math.floor(random() * files.length)] as string),
    )
    await gateway.gaze.store({ records: humanStream(i, { records: BATCH, start, paths }) })
  }
  await gateway.close()
}
