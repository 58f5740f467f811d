import { Int, Text, Upload } from '@rookery/api-v4';

/** Parameters for the avatar file of a resource that all callers can see. */
export class ShowAvatar {
  @Int() id: number;
  @Text() filename: string;
}

/** Parameters for the avatar file of a group or project, which the path names as in other routes. */
export class ShowGroupOrProjectAvatar {
  @Text() filename: string;
}

/** One client library names the part `file`. Source: reference identity-and-import 2.6, 14.1. */
export const AvatarUploadField = () =>
  Upload({ optional: true, nullable: true, alias: 'file', about: 'Image file. A blank value removes the avatar.' });
