import { stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'

/** Maximum number of a client's roots that are read. */
const ROOT_LIMIT = 100

/**
 * Schema of a client's roots. The SDK's own schema refuses all roots when one is not a `file:` address, such as a
 * folder edited over SSH.
 */
export const Roots = z.object({ roots: z.array(z.object({ uri: z.string() }).catch({ uri: '' })) })

/**
 * Finds the folders among a client's roots. Clients may also send open files, and folders of other machines
 * (containers, SSH).
 */
export async function rootFolders({ roots }: z.infer<typeof Roots>): Promise<string[]> {
  const folders: string[] = []
  for (const { uri } of roots.slice(0, ROOT_LIMIT)) {
    try {
      const path = fileURLToPath(uri)
      if ((await stat(path)).isDirectory()) folders.push(path)
    } catch {
      // Not a `file:` address, or the path does not exist.
    }
  }
  return folders
}
