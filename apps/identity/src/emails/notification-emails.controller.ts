import { Controller } from '@nestjs/common';
import type { InternalRequest } from '@rookery/api-v4';
import { InternalRoute } from '@rookery/api-v4';
import type { NotificationEmailAnswer } from '@rookery/contracts';
import { INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import { InvalidParameters } from '@rookery/kernel';
import { NotificationEmailsService } from './notification-emails.service';

/** Internal endpoint for notification settings. It requires an internal key and is not reachable from outside. */
@Controller()
export class NotificationEmailsController {
  constructor(private readonly emails: NotificationEmailsService) {}

  @InternalRoute('POST', INTERNAL_PATHS.notificationEmail, INTERNAL_CALLERS.notificationEmail)
  choose({ body }: InternalRequest): Promise<NotificationEmailAnswer> {
    const { user_id: userId, email } = body;
    if (!Number.isSafeInteger(userId)) throw new InvalidParameters(['user_id is invalid']);
    if (email !== null && (typeof email !== 'string' || email.includes('\0')))
      throw new InvalidParameters(['email is invalid']);
    return this.emails.chooseEmail({ user_id: userId as number, email });
  }
}
