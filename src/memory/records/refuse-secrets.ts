import { GazewayError } from '../../errors.ts'
import { secretIn } from '../../text/secret-text.ts'
import { textOf } from '../../text/words.ts'
import type { MemoryInput } from './memory-record.ts'

/** Treatment of memories that look like secrets. */
export type Secrets = 'refuse' | 'allow'

/** @throws GazewayError `validation_failed` when a memory seems to hold a secret, with its kind and what to do instead */
export function refuseSecrets({ value, tags = [], also = [] }: Pick<MemoryInput, 'value' | 'tags' | 'also'>): void {
  const found = secretIn([textOf(value), ...tags, ...also].join('\n'))
  if (found === null) return
  throw new GazewayError(
    'validation_failed',
    `value: looks like ${found}, and memories are sent to models. Store where it is kept and how to get it instead, such as the name of a variable or an entry of a password manager. If it is none, set memory.secrets to allow.`,
    { param: 'value' },
  )
}
