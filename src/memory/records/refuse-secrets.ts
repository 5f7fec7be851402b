import { GazewayError } from '../../errors.ts'
import { secretIn, secretUnder } from '../../text/secret-text.ts'
import { textOf } from '../../text/words.ts'
import type { MemoryInput } from './memory-record.ts'

/** Treatment of memories that look like secrets. */
export type Secrets = 'refuse' | 'allow'

/** @throws GazewayError `validation_failed` when a memory seems to hold a secret, with its kind and what to do instead */
export function refuseSecrets({
  key,
  namespace,
  project,
  value,
  tags = [],
  also = [],
}: Pick<MemoryInput, 'key' | 'namespace' | 'project' | 'value' | 'tags' | 'also'>): void {
  const refuse = (param: string, text: string) => refuseFound(param, secretIn(text))
  refuse('key', key)
  refuse('namespace', namespace)
  refuse('project', project ?? '')
  refuse('tags', tags.join('\n'))
  refuse('also', also.join('\n'))
  // As JSON too, where a password stands beside its name.
  refuse('value', [textOf(value), JSON.stringify(value)].join('\n'))
  // Under a key such as `db/password`, where a sentence would say where it is kept.
  if (typeof value === 'string' && !/\s/.test(value.trim())) refuseFound('value', secretUnder(key, value.trim()))
}

function refuseFound(param: string, found: string | null): void {
  if (found === null) return
  throw new GazewayError(
    'validation_failed',
    `${param}: looks like ${found}, and memories are sent to models. Store where it is kept and how to get it instead, such as the name of a variable or an entry of a password manager. If it is none, set memory.secrets to allow.`,
    { param },
  )
}
