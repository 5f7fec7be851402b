import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { lazily } from '../../src/lazily.ts'
import { cut } from '../../src/text/cut.ts'

const SKILLS = 'io.modelcontextprotocol/skills'
const loadSkills = lazily(async () => (await import('./own-skills.ts')).ownSkills())

/**
 * Serves Gazeway's own skills over the Skills extension (SEP-2640): `skills/list` and `skills/get`. Not by the
 * SDK's own class, which every start would load.
 *
 * @param kept fields of a result that say how long a client may keep it, in the protocol era of the connection
 */
export function registerSkills({ server }: McpServer, kept: object): void {
  server.registerCapabilities({ extensions: { [SKILLS]: {} } })
  server.setRequestHandler('skills/list', { params: z.object({}) }, async () => {
    const own = await loadSkills()
    return { skills: own.map(({ skill }) => skill), ...kept }
  })
  server.setRequestHandler('skills/get', { params: z.object({ uri: z.string() }) }, async ({ uri }) => {
    const own = await loadSkills()
    const found = own.find(({ skill }) => skill.uri === uri)
    if (!found)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no skill ${cut(uri, 0, 200)}; skills/list lists all skills.`,
      )
    return { skill: found.skill, ...kept }
  })
}

/**
 * Reads a file of one of Gazeway's skills.
 *
 * @throws ResourceNotFoundError when there is no such file
 */
export async function readSkill(uri: string): Promise<ReadResourceResult> {
  const own = await loadSkills()
  const found = own.find(({ skill }) => skill.uri === uri)
  if (!found) throw new ResourceNotFoundError(uri, `There is no file ${cut(uri, 0, 200)}; skills/list lists all files.`)
  return { contents: [{ uri, mimeType: 'text/markdown', text: found.text }] }
}
