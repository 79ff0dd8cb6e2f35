import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Runs TLC once for each line of standard input: a folder and TLC's arguments, apart by tabs. The
 * answer is a line with the number of bytes of TLC's output, then the output. It ends when its
 * input does.
 *
 * <p>TLC keeps state in static fields, so each run loads its classes anew; their bytes, and the JDK
 * with its compiled methods, are kept.
 */
public final class TlcServer {
    private static final Map<String, byte[]> CODE = new HashMap<>();

    /** TLC's classes, for one run. */
    private static final class Fresh extends URLClassLoader {
        Fresh(URL jar) {
            super(new URL[] {jar}, ClassLoader.getPlatformClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                return CODE.containsKey(name) && findLoadedClass(name) == null
                    ? findClass(name) : super.loadClass(name, resolve);
            }
        }

        @Override
        protected synchronized Class<?> findClass(String name) throws ClassNotFoundException {
            if (!CODE.containsKey(name)) {
                try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                    if (in == null) {
                        throw new ClassNotFoundException(name);
                    }
                    CODE.put(name, in.readAllBytes());
                } catch (IOException reason) {
                    throw new ClassNotFoundException(name, reason);
                }
            }
            byte[] code = CODE.get(name);
            return defineClass(name, code, 0, code.length);
        }
    }

    public static void main(String[] jar) throws IOException {
        PrintStream answers = System.out;
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = lines.readLine()) != null; ) {
            var said = new ByteArrayOutputStream();
            try (var out = new PrintStream(said, true, StandardCharsets.UTF_8)) {
                System.setOut(out);
                System.setErr(out);
                run(new Fresh(Path.of(jar[0]).toUri().toURL()), line.split("\t"), out);
            }
            answers.println(said.size());
            said.writeTo(answers);
            answers.flush();
        }
        System.exit(0); // threads of RMI, which TLC starts, would go on
    }

    private static void run(ClassLoader tools, String[] request, PrintStream out) {
        Thread.currentThread().setContextClassLoader(tools);
        try {
            Class<?> io = tools.loadClass("util.ToolIO");
            io.getField("out").set(null, out);
            io.getField("err").set(null, out);
            io.getMethod("setUserDir", String.class).invoke(null, request[0]);
            Class<?> type = tools.loadClass("tlc2.TLC");
            Object tlc = type.getConstructor().newInstance();
            Class<?> finder = tools.loadClass("util.SimpleFilenameToStream");
            Object files = finder.getConstructor().newInstance();
            Class<?> resolver = tools.loadClass("util.FilenameToStream");
            type.getMethod("setResolver", resolver).invoke(tlc, files);
            Object arguments = Arrays.copyOfRange(request, 1, request.length);
            var handle = type.getMethod("handleParameters", String[].class);
            if ((Boolean) handle.invoke(tlc, arguments)) {
                type.getMethod("process").invoke(tlc);
            }
            // Else RMI keeps the table of states, 8 MB, for each run.
            tools.loadClass("tlc2.TLCGlobals").getField("mainChecker").set(null, null);
        } catch (ReflectiveOperationException | LinkageError reason) {
            reason.printStackTrace(out);
        }
    }
}
