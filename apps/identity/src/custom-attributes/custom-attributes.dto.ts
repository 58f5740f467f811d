import { Int, Text } from '@rookery/api-v4';

/** Below a group or project, which the path names as everywhere. */
export class OneAttribute {
  @Text() key: string;
}
export class UpdateAttribute extends OneAttribute {
  @Text() value: string;
}

/** Below a user, who is named by their id alone. */
export class ListUserAttributes {
  @Int() id: number;
}
export class OneUserAttribute extends ListUserAttributes {
  @Text() key: string;
}
export class UpdateUserAttribute extends OneUserAttribute {
  @Text() value: string;
}
