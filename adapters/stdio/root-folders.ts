import { stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'

/** The most roots of a client that are looked at. */
const ROOT_LIMIT = 100

/**
 * A client's roots as clients send them: the SDK's own schema refuses all of them for one that is no `file:` address, as
 * of a folder that is edited over SSH.
 */
export const Roots = z.object({ roots: z.array(z.object({ uri: z.string() }).catch({ uri: '' })) })

/** The folders among a client's roots. Clients name folders of other machines too, in containers and over SSH, and open files. */
export async function rootFolders({ roots }: z.infer<typeof Roots>): Promise<string[]> {
  const folders: string[] = []
  for (const { uri } of roots.slice(0, ROOT_LIMIT)) {
    try {
      const path = fileURLToPath(uri)
      if ((await stat(path)).isDirectory()) folders.push(path)
    } catch {
      // No address of a file, or nothing there.
    }
  }
  return folders
}
