import { homedir } from 'node:os'

/** The user's home folder; null for a user that has none, in a container that is started under a number. */
export function homeFolder(): string | null {
  try {
    return homedir()
  } catch {
    return null
  }
}
