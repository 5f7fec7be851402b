import { GazewayError } from '../errors.ts'
import { lazily } from '../wire/lazily.ts'
import { rereadDocument } from './config.ts'
import type { ConfigHome } from './home.ts'

/** Most processes never change it. */
const loadFile = lazily(() => import('./file.ts'))

/** Configuration in config.json itself, for the processes that share a data folder. */
export function fileHome(file: string): ConfigHome {
  return {
    // Whoever follows config.json sees all that changes here.
    revision: async () => '',
    read: async () => new Map(),
    async change(document, change) {
      const { updateDocument } = await loadFile()
      try {
        rereadDocument(file, document)
        await updateDocument(file, change)
      } catch (error) {
        refuseBroken(error)
      }
    },
  }
}

/** A file that a person broke is theirs to mend; to whoever sends a change, it is in the way of it. */
function refuseBroken(error: unknown): never {
  if (!(error instanceof GazewayError) || error.code !== 'config_invalid') throw error
  throw new GazewayError('conflict', `${error.message} Nothing was changed; mend the file first.`, { cause: error })
}
