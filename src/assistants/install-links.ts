import type { Assistant } from './assistant.ts'
import { cursor } from './cursor.ts'
import { SERVER_NAME } from './format.ts'
import { BY_NAME } from './launch.ts'
import { handedOn } from './variables.ts'
import { vscode } from './vscode.ts'

/** A link that makes an assistant write the entry itself. */
export interface InstallLink {
  assistant: Assistant
  /** Web page that leads to the assistant's own scheme, for places that strip other schemes. */
  page: string
  /** Opens the assistant directly. */
  direct: string
}

/**
 * Creates the one-click links. A link cannot know a path, so its entry starts the installed command by name. The
 * assistant shows the entry and asks for consent.
 */
export function installLinks(): InstallLink[] {
  const variables = handedOn(undefined, {})
  return [cursorLink(cursor.entry(BY_NAME, variables)), vscodeLink(vscode.entry(BY_NAME, variables))]
}

/** Link of https://cursor.com/docs/mcp/install-links, read on 2026-11-24. */
function cursorLink(entry: object): InstallLink {
  const config = encodeURIComponent(Buffer.from(JSON.stringify(entry)).toString('base64'))
  const query = `name=${SERVER_NAME}&config=${config}`
  return {
    assistant: cursor,
    page: `https://cursor.com/en/install-mcp?${query}`,
    direct: `cursor://anysphere.cursor-deeplink/mcp/install?${query}`,
  }
}

/** Link of https://code.visualstudio.com/api/extension-guides/ai/mcp, read on 2026-11-24. */
function vscodeLink(entry: object): InstallLink {
  const named = JSON.stringify({ name: SERVER_NAME, ...entry })
  return {
    assistant: vscode,
    page: `https://vscode.dev/redirect/mcp/install?name=${SERVER_NAME}&config=${encodeURIComponent(JSON.stringify(entry))}`,
    direct: `vscode:mcp/install?${encodeURIComponent(named)}`,
  }
}
