import { Int, Text } from '@rookery/api-v4';

/** Parameters below a group or project, which the path names as in other routes. */
export class OneAttribute {
  @Text() key: string;
}
export class UpdateAttribute extends OneAttribute {
  @Text() value: string;
}

/** Parameters below a user, identified by the numeric id only. */
export class ListUserAttributes {
  @Int() id: number;
}
export class OneUserAttribute extends ListUserAttributes {
  @Text() key: string;
}
export class UpdateUserAttribute extends OneUserAttribute {
  @Text() value: string;
}
