package cep;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;

import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/** Local files with checksums, as Hadoop has them, whose permissions are set without a process `chmod`. */
public class LocalFiles extends LocalFileSystem {

    public LocalFiles() {
        super(new Raw());
    }

    static class Raw extends RawLocalFileSystem {

        public void setPermission(Path path, FsPermission permission) throws IOException {
            String mode = permission.getUserAction().SYMBOL
                + permission.getGroupAction().SYMBOL
                + permission.getOtherAction().SYMBOL;
            Files.setPosixFilePermissions(pathToFile(path).toPath(), PosixFilePermissions.fromString(mode));
        }
    }
}
