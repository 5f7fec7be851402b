import * as z from 'zod'
import type { Skill } from '../skills/skill.ts'
import { localId } from '../text/remote-id.ts'
import { type Access, requestReply } from './request-agent-gateway.ts'

/** The skills of the agent gateway. */
export interface RemoteSkills {
  /** Returns all skills, without their instructions. @throws GazewayError as `ask` */
  list(): Promise<Skill[]>
}

const RemoteSkill = z.object({
  name: z.string().min(1).max(256),
  description: z.string().nullish(),
  category: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
  version: z.string().nullish(),
  enabled: z.boolean().nullish(),
})

/** The agent gateway names the list `data`; its dashboard names it `skills`. */
const SkillList = z.object({ data: z.array(z.unknown()).optional(), skills: z.array(z.unknown()).optional() })

/**
 * Creates the client of an agent gateway's skills.
 *
 * @param timeoutMs timeout of each request
 */
export function createRemoteSkills({ access, timeoutMs }: { access: Access; timeoutMs: number }): RemoteSkills {
  return {
    async list() {
      const { data, skills } = await requestReply(access, { path: '/v1/skills', reply: SkillList, timeoutMs })
      return (data ?? skills ?? []).flatMap((item) => {
        const { data: skill } = RemoteSkill.safeParse(item)
        return skill ? [toSkill(skill)] : []
      })
    },
  }
}

function toSkill(skill: z.infer<typeof RemoteSkill>): Skill {
  return {
    id: localId(skill.name),
    name: skill.name,
    description: skill.description ?? '',
    category: skill.category ?? null,
    tags: skill.tags ?? [],
    version: skill.version ?? null,
    license: null,
    compatibility: null,
    path: null,
    source: 'upstream',
    installed: true,
    enabled: skill.enabled ?? true,
    updated_at: null,
    metadata: {},
    warnings: [],
    error: null,
  }
}
