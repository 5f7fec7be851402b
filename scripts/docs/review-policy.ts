import * as z from 'zod'
import { PolicyFile } from '../../src/review/policy.ts'
import { json } from './manifests.ts'

/** Writes the JSON Schema of review policies, which editors and policies name. */
export const reviewPolicySchema = (): string =>
  json({ ...z.toJSONSchema(PolicyFile, { io: 'input' }), title: 'Gazeway review policy' })
