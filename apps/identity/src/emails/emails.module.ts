import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { DirectoryModule } from '../directory/directory.module';
import { UsersModule } from '../users/users.module';
import { AccountMailsController } from './account-mails/account-mails.controller';
import { AccountMailsService } from './account-mails/account-mails.service';
import { ExportMails } from './account-mails/export-mails';
import { AddedAddressMails } from './account-mails/added-address-mails';
import { LeftOutMails } from './account-mails/left-out-mails';
import { ConfirmationMails } from './confirming/confirmation-mails';
import { EmailConfirmationCount } from './confirming/email-confirmation-count.entity';
import { EmailConfirmationController } from './confirming/email-confirmation.controller';
import { EmailConfirmationsService } from './confirming/email-confirmations.service';
import { EmailsController } from './emails.controller';
import { EmailsQueries } from './emails.queries';
import { EmailsService } from './emails.service';
import { NotificationEmailsController } from './notification-emails.controller';
import { NotificationEmailsService } from './notification-emails.service';
import { PrimaryEmails } from './primary-emails';
import { UserEmailsController } from './user-emails.controller';

/** E-mail addresses of users: adding and confirming them, and the contents of account e-mails. */
@Owns(EmailConfirmationCount)
@Module({
  imports: [DirectoryModule, UsersModule],
  controllers: [
    EmailsController,
    UserEmailsController,
    EmailConfirmationController,
    AccountMailsController,
    NotificationEmailsController,
  ],
  providers: [
    EmailsQueries,
    EmailsService,
    EmailConfirmationsService,
    NotificationEmailsService,
    PrimaryEmails,
    AccountMailsService,
    ConfirmationMails,
    ExportMails,
    AddedAddressMails,
    LeftOutMails,
  ],
  exports: [PrimaryEmails, AccountMailsService, EmailConfirmationsService],
})
export class EmailsModule {}
