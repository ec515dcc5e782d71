import { Type } from 'typebox';
import { Closed, Nullable } from '../../core/schemas.ts';
import { Count, Hours, Seconds } from './fields.ts';

/** Where inbound media is kept when several processes share it; without a bucket a folder. */
const MediaS3 = Closed({
  bucket: Nullable(
    Type.String({
      description: 'keeps inbound media in this S3-compatible bucket instead of a folder',
      default: null,
      minLength: 3,
    }),
  ),
  endpoint: Nullable(
    Type.String({
      description: 'address of the S3-compatible service',
      default: null,
      pattern: '^https?://[^\\s?#]+$',
      'x-expected': 'an http:// or https:// address',
      'x-default': "Amazon's, of the region",
      'x-secret': 'password',
    }),
  ),
  region: Type.String({ description: 'its region', default: 'us-east-1', minLength: 1 }),
  access_key: Nullable(
    Type.String({
      description: 'id of the access key',
      default: null,
      minLength: 1,
      'x-default': "the machine's own credentials",
      'x-secret': 'all',
    }),
  ),
  secret_key: Nullable(
    Type.String({
      description: 'the access key itself',
      default: null,
      minLength: 1,
      'x-secret': 'all',
    }),
  ),
  prefix: Type.String({
    description: 'prefix of the name of every object',
    default: 'media/',
    pattern: '^([A-Za-z0-9_-]+/)*$',
    'x-expected': 'names of folders, each followed by a slash',
  }),
  path_style: Type.Boolean({
    description: 'name the bucket in the path, as most services but Amazon want it',
    default: true,
  }),
});

/** Pictures and files. */
export const MediaSettings = Closed({
  max_bytes: Type.Integer({
    description: 'largest file',
    default: 67_108_864,
    minimum: 1,
    maximum: 2_147_483_647,
    'x-unit': 'bytes',
  }),
  timeout_s: Seconds('in which a file must be fetched', 60, 0.1),
  fetches: Count('files to be sent that one process fetches at once, and as many received', 32, 1),
  ahead: Count(
    'files that one account may have fetched before their messages are due; 0 fetches each in its turn',
    4,
  ),
  address_h: Hours('for which an address of inbound media is good', 24),
  keep_h: Hours('for which inbound media is kept', 720, 87_600),
  directory: Type.String({
    description: 'where inbound media is kept, and files that are being fetched',
    minLength: 1,
    'x-default': '`media` in `data_dir`',
  }),
  s3: MediaS3,
});
