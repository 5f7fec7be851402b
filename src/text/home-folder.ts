import { homedir } from 'node:os'

/** The user's home folder. Null when the user has none, as in a container that runs under an unknown user id. */
export function homeFolder(): string | null {
  try {
    return homedir()
  } catch {
    return null
  }
}
