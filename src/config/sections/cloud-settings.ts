import * as z from 'zod'
import { CREDENTIAL_SOURCES } from '../../providers/cloud.ts'
import { lazySchema } from './section.ts'
import { modelId } from './setting-values.ts'

/** A setting that the cloud's own variable may give. */
const named = (pattern: RegExp, accepted: string, description: string) =>
  z.string().regex(pattern).nullable().default(null).meta({ description, accepted })

const RESOURCE =
  /^(?:[A-Za-z0-9][A-Za-z0-9-]{1,63}|https:\/\/[A-Za-z0-9.-]{1,200}\.(?:openai\.azure|cognitiveservices\.azure|services\.ai\.azure)\.(?:com|us|cn)(?:\/openai(?:\/v1)?)?\/?)$/
const ID = /^[\w.:-]{1,128}$/

/** Address and credentials of an upstream in a cloud. No setting here is a secret. */
export const cloud = lazySchema(() =>
  z
    .strictObject({
      resource: named(
        RESOURCE,
        'a name such as my-resource, its endpoint such as https://my-resource.openai.azure.com, or null',
        'Azure: name or endpoint of the resource; null: AZURE_OPENAI_ENDPOINT.',
      ),
      api_version: named(
        /^\d{4}-\d\d-\d\d(?:-preview)?$/,
        'a version such as 2024-10-21, or null',
        'Azure: version of the API with deployments in its paths; null: the paths below /openai/v1, which have none.',
      ),
      deployments: z.record(modelId, modelId).default({}).meta({
        description:
          'Model id → the name by which the cloud knows it, such as its deployment. The price is that of the model id, and the list of models has these alone.',
      }),
      region: named(
        /^[a-z0-9-]{2,40}$/,
        'a region such as us-east-1, or null',
        'Region of the models; null: the variable of the cloud.',
      ),
      project: named(
        ID,
        'a project such as my-project, or null',
        'Project of the account; null: the variable of the cloud.',
      ),
      credentials: z
        .enum(CREDENTIAL_SOURCES)
        .default('auto')
        .meta({
          description:
            'Source of the credentials: key (an API key or bearer token), environment, file, machine (those that the cloud gives to this machine), or auto: the first of them that has some.',
          accepted: CREDENTIAL_SOURCES.join(', '),
        }),
      profile: named(
        ID,
        'a profile such as work, or null',
        'Profile of the shared credentials; null: the variable of the cloud.',
      ),
      tenant_id: named(ID, 'an id, or null', 'Azure: directory of the service principal; null: AZURE_TENANT_ID.'),
      client_id: named(
        ID,
        'an id, or null',
        'Azure: application of the service principal, or of a managed identity that is assigned by hand; null: AZURE_CLIENT_ID.',
      ),
      credentials_file: named(
        /^[^\p{Cc}]{1,1000}$/u,
        'an absolute path, or null',
        'File with the credentials; null: the variable of the cloud. Azure: the client secret and no more.',
      ),
    })
    .prefault({}),
)
